/** The picture of a schema as a file. The colours are copied from the page, because the file has no style sheet. */
import type { Relation } from '../../queries/catalog-types';
import { BOX_PX, heightOf, idOf, type Point } from '../../lib/schema-layout';

const STYLES = ['fill', 'stroke', 'stroke-width', 'font-family', 'font-size', 'font-weight', 'opacity'];
const MARGIN_PX = 20;
/** Image pixels per pixel of the picture; fewer for a large picture, because browsers limit the size of an image. */
const SCALE = 2;
const MAX_PX = 8192;
const XML = 'http://www.w3.org/2000/svg';

export function svgOf(
  svg: SVGSVGElement,
  tables: readonly Relation[],
  places: ReadonlyMap<string, Point>,
): string {
  const boxes = tables.map((one) => ({ ...places.get(idOf(one))!, height: heightOf(one) }));
  const left = Math.min(...boxes.map(({ x }) => x)) - MARGIN_PX;
  const top = Math.min(...boxes.map(({ y }) => y)) - MARGIN_PX;
  const width = Math.max(...boxes.map(({ x }) => x + BOX_PX)) + MARGIN_PX - left;
  const height = Math.max(...boxes.map((box) => box.y + box.height)) + MARGIN_PX - top;
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = svg.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((element, index) => {
    const computed = getComputedStyle(originals[index]!);
    for (const name of STYLES) element.setAttribute(name, computed.getPropertyValue(name));
    for (const name of ['class', 'role', 'tabindex', 'aria-label']) element.removeAttribute(name);
  });
  copy.querySelector('g')?.removeAttribute('transform');
  copy.setAttribute('xmlns', XML);
  copy.setAttribute('viewBox', `${left} ${top} ${width} ${height}`);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.removeAttribute('class');
  const back = document.createElementNS(XML, 'rect');
  const shape = { x: left, y: top, width, height, fill: getComputedStyle(document.body).backgroundColor };
  for (const [name, value] of Object.entries(shape)) back.setAttribute(name, String(value));
  copy.prepend(back);
  return new XMLSerializer().serializeToString(copy);
}

export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const scale = Math.min(SCALE, MAX_PX / Math.max(image.width, image.height));
  const canvas = document.createElement('canvas');
  canvas.width = image.width * scale;
  canvas.height = image.height * scale;
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('the image is too large'))),
      'image/png',
    );
  });
}
