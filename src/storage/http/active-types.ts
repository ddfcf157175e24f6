/** Types that a browser executes, or hands to a plugin, when it shows them: a preview offers these for saving instead. */
import { essenceOf } from '../content-type/content-type';

const ACTIVE = new Set([
  'text/html',
  'application/xhtml+xml',
  'text/xml',
  'application/xml',
  'text/xsl',
  'application/pdf',
  'multipart/related',
  'multipart/x-mixed-replace',
  'message/rfc822',
  'application/x-mimearchive',
  'application/x-shockwave-flash',
  'application/java-archive',
]);

export function previewDisposition(contentType: string): 'inline' | 'attachment' {
  const essence = essenceOf(contentType);
  return ACTIVE.has(essence) || essence.endsWith('+xml') ? 'attachment' : 'inline';
}
