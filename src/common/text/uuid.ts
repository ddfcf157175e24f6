/** What an id looks like: nothing else is asked of PostgreSQL, which would refuse it as no uuid. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
