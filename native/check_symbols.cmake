# cmake -DNM=nm -DISA=v4 -DOBJECTS=a.o|b.o -P check_symbols.cmake
#
# Fails if an object of one instruction set defines a function that another object may share: an
# inline function or template, of std:: or of our own outside extensor::<isa>, that was not inlined.
# The linker keeps one copy for all, and it may be one whose instructions an older processor lacks.
string(REPLACE "|" ";" OBJECTS "${OBJECTS}")
execute_process(
  COMMAND ${NM} --extern-only --defined-only ${OBJECTS}
  OUTPUT_VARIABLE listing
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9a-f]+ [A-Za-z] [^\n]+" symbols "${listing}")
list(LENGTH symbols count)
if(count EQUAL 0)
  message(FATAL_ERROR "${NM} lists no symbols of the ${ISA} kernels: the check sees nothing")
endif()
string(LENGTH "${ISA}" length)
# Names below extensor::<isa>, and what compilers add for exceptions: GCC a pointer to their
# handler (data), Clang a function that ends the program.
list(FILTER symbols EXCLUDE REGEX
     "8extensor${length}${ISA}|DW\\.ref\\.__gxx_personality_v0|__clang_call_terminate")
if(symbols)
  list(JOIN symbols "\n  " shared)
  message(FATAL_ERROR
          "kernels for ${ISA} must define nothing outside extensor::${ISA}, got\n  ${shared}")
endif()
