/** A mail template in Liquid (https://liquidjs.com), and the values that it can show. */

export interface MailTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type MailValues = Readonly<Record<string, string | number | null>>;

export const TEMPLATE_PARTS = ['subject', 'text', 'html'] as const;
