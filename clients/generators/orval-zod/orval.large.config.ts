/**
 * For hundreds of tables: a file for each. The compiler takes time that grows with the square of the length of a file, because it
 * follows the assignments of the whole file for each name in it.
 */
import config from './orval.config';

const { input, output } = config.api;

export default { api: { input, output: { ...output, mode: 'tags-split' } } };
