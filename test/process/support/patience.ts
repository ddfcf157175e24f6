// A case starts several processes, each of which takes ten seconds on a machine with much else to do.
jest.setTimeout(120_000);

// Calls are compared with the document in the tests of the interface. Here they are the load, and only their effect counts.
delete process.env.PLINTH_TEST_DOCUMENT;
