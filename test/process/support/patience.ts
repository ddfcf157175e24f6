// A case starts several processes, each of which takes ten seconds on a machine with much else to do.
jest.setTimeout(120_000);
