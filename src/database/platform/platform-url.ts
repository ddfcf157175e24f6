/** Injection token of the platform database's connection URL: embedded or DATABASE_URL, known once it runs. */
export const PLATFORM_URL = Symbol('PLATFORM_URL');
