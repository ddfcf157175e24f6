/** Headers of responses. */

export type ResponseHeaders = Record<string, string | string[]>;
