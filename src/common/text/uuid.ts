/** The form of an id. Check it before a query: PostgreSQL answers an invalid uuid with an error. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
