import { createTheme, type MantineColorsTuple } from '@mantine/core';

const TEAL: MantineColorsTuple = [
  '#e5f6f5',
  '#cdeae8',
  '#9fd5d1',
  '#6cbfb9',
  '#43aca5',
  '#289f98',
  '#148f88',
  '#0b7a75',
  '#05645f',
  '#004d49',
];

export const THEME = createTheme({
  primaryColor: 'plinth',
  primaryShade: { light: 7, dark: 7 },
  colors: {
    plinth: TEAL,
    // Slate instead of Mantine's neutral grey.
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
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  headings: { fontWeight: '650' },
  autoContrast: true,
  components: {
    Button: { defaultProps: { size: 'sm' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.4, blur: 2 } } },
    Tooltip: { defaultProps: { openDelay: 350 } },
  },
});
