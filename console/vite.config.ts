import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  // Relative to the base URL that the server writes into the page: Plinth may be behind a proxy that adds a prefix.
  base: './',
  plugins: [react()],
  build: {
    target: 'es2022',
    // Older ones do not know light-dark(), for which no rewriting suits Mantine's colour schemes.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    outDir: 'dist',
    // The policy of the page forbids scripts and fonts in data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1200,
  },
  server: { proxy: { '^/(admin|v1|rest|p|docs|openapi|health)': 'http://localhost:8080' } },
});
