// Calls are compared with the document in the tests of the interface. Here they are the load, and only their effect counts.
delete process.env.PLINTH_TEST_DOCUMENT;
