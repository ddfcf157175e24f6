/** A language tag (RFC 5646) as far as Plinth needs it: `de`, `pt-BR`, `zh-Hant`. */
export const LANGUAGE_TAG = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/;
