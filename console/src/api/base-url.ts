/** The URL of this Plinth. The base URL of the page is `/console/`, also behind a proxy that adds a prefix. */
export const PLINTH_URL = new URL('..', document.baseURI).href.replace(/\/$/, '');

/** Path of `/console`, for the router. */
export const CONSOLE_PATH = new URL('.', document.baseURI).pathname.replace(/\/$/, '');
