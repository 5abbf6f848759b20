//! Examples of using Placet as a library: one program each, in `src/bin`. See `README.md` beside this folder.
