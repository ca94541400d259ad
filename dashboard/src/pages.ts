import type { ComponentType } from 'react';
import type { IconName } from './parts/icon.tsx';

export type PageModule = Promise<{ readonly Page: ComponentType }>;

/** A page of the dashboard. All of them are here, as all routes of the server are in one list. */
export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly load: () => PageModule;
  /** Place in the navigation; absent: it is reached from another page. */
  readonly nav?: { readonly group: 'Use' | 'Look' | 'Manage' | 'Run'; readonly icon: IconName; readonly key?: string };
  /** Operators alone: members do not see it. */
  readonly isForOperators?: boolean;
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    load: () => import('./pages/overview/page.tsx'),
    nav: { group: 'Use', icon: 'overview', key: 'o' },
  },
  {
    path: '/ui/keys',
    title: 'Keys',
    load: () => import('./pages/keys/page.tsx'),
    nav: { group: 'Manage', icon: 'keys', key: 'k' },
    isForOperators: true,
  },
  { path: '/ui/keys/$hash', title: 'Key', load: () => import('./pages/key/page.tsx'), isForOperators: true },
  {
    path: '/ui/audit',
    title: 'Audit',
    load: () => import('./pages/audit/page.tsx'),
    nav: { group: 'Run', icon: 'audit', key: 'l' },
    isForOperators: true,
  },
  {
    path: '/ui/settings',
    title: 'Settings',
    load: () => import('./pages/settings/page.tsx'),
    nav: { group: 'Run', icon: 'settings', key: ',' },
  },
];
