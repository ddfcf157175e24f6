// Runs in piscina's threads: a template may keep a thread busy until it is ended, and the event loop is none of those.
// Liquid is a language made for templates that strangers write: it has no code, and here it has no files and no network
// either, and limits on time and memory of its own. In HTML every value is escaped.
// Plain JavaScript, so that the same file is loaded from src/ by the tests and from dist/ by the product.
'use strict';
const { Liquid } = require('liquidjs');

// Characters; milliseconds; about bytes.
const LIMITS = { parseLimit: 200_000, renderLimit: 500, memoryLimit: 5_000_000 };
const COMMON = { ...LIMITS, ownPropertyOnly: true, strictFilters: true, templates: {}, cache: false };

const plain = new Liquid(COMMON);
const markup = new Liquid({ ...COMMON, outputEscape: 'escape' });

exports.render = ({ template, values }) => ({
  // A line break in a subject would begin another header.
  subject: rendered(plain, 'subject', template, values).replace(/\s+/g, ' ').trim(),
  text: rendered(plain, 'text', template, values),
  html: rendered(markup, 'html', template, values),
});

function rendered(engine, part, template, values) {
  try {
    return String(engine.parseAndRenderSync(template[part], { ...values }));
  } catch (error) {
    throw new Error(`${part}: ${error.message}`);
  }
}
