/** Injection token of the platform database's connection URL: embedded or DATABASE_URL, known once it runs. */
export const PLATFORM_URL = Symbol('PLATFORM_URL');

/** Injection token to wait for: the platform database exists and is migrated. */
export const PLATFORM_READY = Symbol('PLATFORM_READY');
