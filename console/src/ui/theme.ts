import { createTheme, type MantineColorsTuple } from '@mantine/core';

const TEAL: MantineColorsTuple = [
  '#e5f6f5',
  '#cdeae8',
  '#9fd5d1',
  '#6cbfb9',
  '#43aca5',
  '#289f98',
  '#0e807a',
  '#0b7a75',
  '#05645f',
  '#004d49',
];

/**
 * Mantine's orange and red with darker shades for text and its backgrounds, because the original shades are too light.
 */
const ORANGE: MantineColorsTuple = [
  '#fff4e6',
  '#ffe8cc',
  '#ffd8a8',
  '#ffc078',
  '#ffa94d',
  '#ff922b',
  '#fd7e14',
  '#b34700',
  '#a34000',
  '#963a00',
];
const RED: MantineColorsTuple = [
  '#fff5f5',
  '#ffe3e3',
  '#ffc9c9',
  '#ffa8a8',
  '#ff8787',
  '#ff6b6b',
  '#d02f2f',
  '#c92a2a',
  '#b32020',
  '#a51111',
];

export const THEME = createTheme({
  primaryColor: 'plinth',
  primaryShade: 7,
  colors: {
    plinth: TEAL,
    orange: ORANGE,
    red: RED,
    // Slate replaces Mantine's neutral grey.
    dark: [
      '#d5dbe1',
      '#b3bcc6',
      '#95a0ac',
      '#6a7684',
      '#3a444f',
      '#2c353f',
      '#212932',
      '#181e25',
      '#12171d',
      '#0c1014',
    ],
  },
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  headings: { fontWeight: '650' },
  autoContrast: true,
  respectReducedMotion: true,
  components: {
    Badge: { defaultProps: { tt: 'none' } },
    Button: { defaultProps: { size: 'sm' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    // Without a blur, which takes most of the processor time of a dialog where no graphics processor draws.
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.4 } } },
    // A narrow page scrolls its tables, which the keyboard must be able to do as well.
    TableScrollContainer: { defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } } },
    Tooltip: { defaultProps: { openDelay: 350 } },
  },
});
