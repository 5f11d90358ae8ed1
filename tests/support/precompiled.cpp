// Compiled only to hold the precompiled headers of the tests (tests/CMakeLists.txt).
