// Lets a wheel for x86-64 run with glibc 2.28 although it was linked with a newer one.
//
// The linker binds a function to its newest version, and the dynamic linker of an older system then
// refuses the whole module. `--wrap` sends our calls here instead, and `.symver` names the version
// that every glibc for x86-64 has. The functions are the same in both: 2.34 only moved those of
// libpthread and libdl into libc, and log and pow lost a wrapper that sets errno. Likewise
// libstdc++: the destructor of exception_ptr releases what it holds, and is older than the function
// that does.
#ifdef EXTENSOR_MANYLINUX
#include <pthread.h>

#include <csignal>
#include <cstddef>

#define OLDER(name) __asm__(".symver older_" #name "," #name "@GLIBC_2.2.5")
OLDER(dlsym);
OLDER(log);
OLDER(pow);
OLDER(pthread_key_create);
OLDER(pthread_setspecific);
OLDER(pthread_sigmask);
__asm__(".symver older_pthread_setaffinity_np,pthread_setaffinity_np@GLIBC_2.3.4");

extern "C" {
void* older_dlsym(void* library, const char* name);
double older_log(double x);
double older_pow(double x, double y);
int older_pthread_key_create(pthread_key_t* key, void (*destroy)(void*));
int older_pthread_setspecific(pthread_key_t key, const void* value);
int older_pthread_sigmask(int how, const sigset_t* set, sigset_t* before);
int older_pthread_setaffinity_np(pthread_t thread, std::size_t size, const cpu_set_t* set);

void* __wrap_dlsym(void* library, const char* name) { return older_dlsym(library, name); }
double __wrap_log(double x) { return older_log(x); }
double __wrap_pow(double x, double y) { return older_pow(x, y); }
int __wrap_pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) {
  return older_pthread_key_create(key, destroy);
}
int __wrap_pthread_setspecific(pthread_key_t key, const void* value) {
  return older_pthread_setspecific(key, value);
}
int __wrap_pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  return older_pthread_sigmask(how, set, before);
}
int __wrap_pthread_setaffinity_np(pthread_t thread, std::size_t size, const cpu_set_t* set) {
  return older_pthread_setaffinity_np(thread, size, set);
}

void _ZNSt15__exception_ptr13exception_ptrD1Ev(void* pointer);
void __wrap__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void* pointer) {
  _ZNSt15__exception_ptr13exception_ptrD1Ev(pointer);
}

// glibc 2.32 sets it to true in a program of one thread, which lets shared_ptr count without locks.
// Here it is always false: right in every program.
char __libc_single_threaded = 0;
}
#endif
