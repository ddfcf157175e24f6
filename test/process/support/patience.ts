// End-to-end tests compare each call with the OpenAPI document. Process tests use calls as load, so they skip the comparison.
delete process.env.PLINTH_TEST_DOCUMENT;
