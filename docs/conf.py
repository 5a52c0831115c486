"""The documentation site: `make docs` builds it into build/docs."""

import sys
from pathlib import Path

import extensor

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "ExTensor"
copyright = "the ExTensor developers"
version = release = extensor.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "formulas",
    "reference",
]
intersphinx_mapping = {}  # the site is built offline
exclude_patterns = ["_extensions", "README.md"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# A docstring names things as its reader does: ``ex.relu`` or plain ``relu``.
default_role = "py:obj"
add_module_names = False
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_display_short_literal_types = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
viewcode_follow_imported_members = True

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "ExTensor"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_context = {"default_mode": "auto"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
