/** The URL of this Plinth. The page's base URL is that of `/console/`, also behind a proxy that adds a prefix. */
export const PLINTH_URL = new URL('..', document.baseURI).href.replace(/\/$/, '');

/** Path of `/console`, for the router. */
export const CONSOLE_PATH = new URL('.', document.baseURI).pathname.replace(/\/$/, '');
