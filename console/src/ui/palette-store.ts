/** Opens the command palette, whose component is loaded later. */
import { createSpotlight } from '@mantine/spotlight';

export const [paletteStore, palette] = createSpotlight();
