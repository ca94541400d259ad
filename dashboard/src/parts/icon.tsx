import type { ReactElement } from 'react';

/** Drawn on a grid of 16, with lines of 1.5. */
const PATHS = {
  overview: 'M2.5 8.5 8 3l5.5 5.5M4 7.5v6h3.2v-3.8h1.6v3.8H12v-6',
  playground: 'M2.5 3.5h11v7.5H8.2L5 13.5V11H2.5zM5.2 6h5.6M5.2 8.4h3.4',
  requests: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  sessions: 'M2.5 3.5h11v2.6h-11zM4.5 7h7v2.4h-7zM6.5 10.4h5v2.2h-5z',
  models: 'M8 2.2 13.4 5v6L8 13.8 2.6 11V5zM2.8 5.1 8 7.9l5.2-2.8M8 7.9v5.7',
  routing:
    'M3 12.5c5 0 4-9 10-9M10.5 1.5l2.5 2-2.5 2M3 3.5c2 0 3 1.4 3.7 3M9 10.6c.8 1.2 2 1.9 4 1.9M10.5 10.5l2.5 2-2.5 2',
  providers: 'M4 9.5a2.8 2.8 0 0 1 .3-5.6 4 4 0 0 1 7.5.9 2.4 2.4 0 0 1 .2 4.7zM6 12v2M10 12v2M8 11v3',
  keys: 'M10.3 8.3a3 3 0 1 0-2.6-2.6L2.5 11v2.5H5V12h1.5v-1.5H8zM10.8 5.2h.01',
  money:
    'M8 2.2v11.6M11 4.6C10.3 3.8 9.2 3.5 8 3.5c-1.8 0-3 .8-3 2.1C5 8.7 11.2 7 11.2 10.2c0 1.4-1.3 2.3-3.2 2.3-1.4 0-2.6-.5-3.3-1.4',
  guardrails: 'M8 2.2 13 4v3.8c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.8 7.9l1.6 1.6 2.9-3.1',
  presets: 'M2.5 4.5h5M10.5 4.5h3M9 3v3M2.5 11.5h2.5M8 11.5h5.5M6.5 10v3',
  tools: 'M9.9 2.5a3.5 3.5 0 0 0-3 4.9L2.6 11.7l1.7 1.7 4.3-4.3a3.5 3.5 0 0 0 4.5-4.5L11 6.7 9.3 5z',
  box: 'M2.5 5 8 2.5 13.5 5v6L8 13.5 2.5 11zM2.5 5 8 7.5 13.5 5M8 7.5v6',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5M8 9.8v1.6',
  evaluations: 'M3 2.5h10v11H3zM5 6l1 1 1.6-1.8M5 10.3l1 1 1.6-1.8M9.3 6.2h2M9.3 10.5h2',
  datasets:
    'M3 4.2c0-1 2.2-1.8 5-1.8s5 .8 5 1.8-2.2 1.8-5 1.8-5-.8-5-1.8zM3 4.2v7.6c0 1 2.2 1.8 5 1.8s5-.8 5-1.8V4.2M3 8c0 1 2.2 1.8 5 1.8s5-.8 5-1.8',
  files: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  analytics: 'M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6',
  destinations: 'M13.5 2.5 2.5 7l4.2 1.9L8.8 13.5zM13.5 2.5 6.7 8.9',
  bell: 'M8 2.2a3.8 3.8 0 0 0-3.8 3.8c0 3.6-1.4 4.6-1.4 5.5h10.4c0-.9-1.4-1.9-1.4-5.5A3.8 3.8 0 0 0 8 2.2zM6.6 13.6a1.5 1.5 0 0 0 2.8 0',
  workspaces: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.8 13.5c.2-2.4 1.9-4 4.2-4s4 1.6 4.2 4M10.5 7.3a2.2 2.2 0 1 0-.4-4.3M11.5 9.6c1.6.4 2.6 1.8 2.8 3.9',
  audit: 'M8 4.8V8l2.2 1.5M3 5.2A5.7 5.7 0 1 1 2.4 9M2.5 2.7v2.7h2.7',
  settings:
    'M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4',
  health: 'M1.8 8.5h3l1.7-4.5 2.7 8 1.7-3.5h3.3',
  start: 'M8.5 1.8 3.5 9H7.5l-.5 5.2 5-7.2H8z',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4l3.1 3.1',
  close: 'm4 4 8 8M12 4l-8 8',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'm3 8.5 3.2 3.2L13 4.5',
  warning: 'M8 2.5 14.2 13H1.8zM8 6.5v3M8 11.3h.01',
  chevron: 'm5.5 3.5 4.5 4.5-4.5 4.5',
  down: 'm3.5 5.5 4.5 4.5 4.5-4.5',
  plus: 'M8 3v10M3 8h10',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  code: 'm5 4.5-3.5 3.5L5 11.5M11 4.5 14.5 8 11 11.5M9.3 3l-2.6 10',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  moon: 'M13.3 9.7A5.7 5.7 0 0 1 6.3 2.7a5.7 5.7 0 1 0 7 7z',
  user: 'M8 7.5a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4zM2.8 14c.3-2.8 2.4-4.5 5.2-4.5s4.9 1.7 5.2 4.5',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  trash: 'M2.8 4.3h10.4M6.3 4.3V2.7h3.4v1.6M4.2 4.3l.6 9.2h6.4l.6-9.2M6.6 6.8v4.2M9.4 6.8v4.2',
  refresh: 'M13.2 6.5A5.5 5.5 0 0 0 3 5.7M2.8 9.5a5.5 5.5 0 0 0 10.2.8M13.5 2.8v3.7H9.8M2.5 13.2V9.5h3.7',
  stop: 'M4 4h8v8H4z',
  play: 'M4.5 3 12.5 8l-8 5z',
  pause: 'M5 3.5v9M11 3.5v9',
  link: 'M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3.2 3.2 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3.2 3.2 0 0 1 3 8.5L4.5 7',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 13.5h11',
  external: 'M6.5 3.5h-3v9h9v-3M9 2.5h4.5V7M13 3 7.5 8.5',
  edit: 'M2.5 13.5h2.6l8-8-2.6-2.6-8 8zM9 4.4l2.6 2.6',
  send: 'M8 13V3M3.8 7.2 8 3l4.2 4.2',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a word, or inside a button that has a name: never read aloud itself. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactElement {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="shrink-0"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
