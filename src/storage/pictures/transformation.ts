/** The requested picture as a text: the key of a rendition, a part of signed URLs, and the header X-Transformations. */
import { PictureOptions, Resizing } from './picture-process';

/** Maximum pixels of a side. */
export const MAX_SIDE = 2_500;
export const QUALITY = { least: 20, most: 100, default: 80 } as const;
export const RESIZES = ['cover', 'contain', 'fill'] as const;
export const FORMATS = ['origin', 'avif', 'webp'] as const;

export interface Transformation {
  readonly width?: number;
  readonly height?: number;
  /** Default: cover. */
  readonly resize?: (typeof RESIZES)[number];
  readonly quality?: number;
  /** Default: AVIF or WebP if the client accepts it. */
  readonly format?: (typeof FORMATS)[number];
}

/** The names of imgproxy, which Supabase's header shows. */
const RESIZING = { cover: 'fill', contain: 'fit', fill: 'force' } as const satisfies Record<string, Resizing>;
const TEXT =
  /^(?:height:(\d+),)?(?:width:(\d+),)?resizing_type:(fill|fit|force)(?:,quality:(\d+))?(?:,format:(origin|avif|webp))?$/;

/** The text of options, such as `height:200,width:200,resizing_type:fill,quality:60`. */
export function textOf({ width, height, resize = 'cover', quality, format }: Transformation): string {
  return [
    ...(height === undefined ? [] : [`height:${height}`]),
    ...(width === undefined ? [] : [`width:${width}`]),
    `resizing_type:${RESIZING[resize]}`,
    ...(quality === undefined ? [] : [`quality:${quality}`]),
    ...(format === undefined ? [] : [`format:${format}`]),
  ].join();
}

/**
 * @param text from textOf(): of this request, or in a signed URL
 * @param accept the request's Accept header
 */
export function optionsOf(text: string, accept: string | undefined): PictureOptions {
  const [, height, width, resizing, quality, format] = TEXT.exec(text) ?? [];
  const number = (value: string | undefined): number | undefined =>
    value === undefined ? undefined : Number(value);
  return {
    width: number(width),
    height: number(height),
    resizing: (resizing ?? 'fill') as Resizing,
    quality: number(quality) ?? QUALITY.default,
    format: formatOf(format, accept),
  };
}

function formatOf(wanted: string | undefined, accept = ''): PictureOptions['format'] {
  if (wanted === 'origin' || wanted === 'avif' || wanted === 'webp') return wanted;
  return (['avif', 'webp'] as const).find((format) => accepts(accept, `image/${format}`)) ?? 'origin';
}

/** Chosen only if Accept names the type: every client accepts all types, whether it can show them or not. */
function accepts(accept: string, type: string): boolean {
  return accept.split(',').some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return name === type && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
