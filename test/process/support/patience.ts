// The tests of the interface compare calls with the document. Here calls are load, so the comparison is turned off.
delete process.env.PLINTH_TEST_DOCUMENT;
