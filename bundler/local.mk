noinst_LIBRARIES += libbundler.a
libbundler_a_SOURCES = bundler/outputs.c bundler/outputs.h
