/** Injection token: the connection URL of the platform database (embedded or DATABASE_URL), known once it runs. */
export const PLATFORM_URL = Symbol('PLATFORM_URL');

/** Injection token: resolves when the platform database exists and is migrated. */
export const PLATFORM_READY = Symbol('PLATFORM_READY');
