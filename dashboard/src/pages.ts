import type { ComponentType } from 'react';
import type { Sight } from './api/session.ts';
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
  /** Users see it all the same: all of them, or admins of a workspace. */
  readonly users?: 'all' | 'admins';
}

/** The app hides what is not allowed; the gateway refuses it. */
export function isShownTo({ isForOperators = false, users }: PageEntry, sight: Sight): boolean {
  if (sight === 'operator' || !isForOperators) return true;
  return users === 'all' ? sight !== 'key' : users === 'admins' && sight === 'admin';
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    load: () => import('./pages/overview/page.tsx'),
    nav: { group: 'Use', icon: 'overview', key: 'o' },
  },
  {
    path: '/ui/playground',
    title: 'Playground',
    load: () => import('./pages/playground/page.tsx'),
    nav: { group: 'Use', icon: 'playground', key: 'p' },
  },
  {
    path: '/ui/requests',
    title: 'Requests',
    load: () => import('./pages/requests/page.tsx'),
    nav: { group: 'Look', icon: 'requests', key: 'r' },
  },
  { path: '/ui/requests/$id', title: 'Request', load: () => import('./pages/request/page.tsx') },
  { path: '/ui/sessions/$id', title: 'Session', load: () => import('./pages/session/page.tsx') },
  {
    path: '/ui/analytics',
    title: 'Analytics',
    load: () => import('./pages/analytics/page.tsx'),
    nav: { group: 'Look', icon: 'analytics', key: 'a' },
  },
  {
    path: '/ui/models',
    title: 'Models',
    load: () => import('./pages/models/page.tsx'),
    nav: { group: 'Look', icon: 'models', key: 'm' },
  },
  { path: '/ui/models/$author/$slug', title: 'Model', load: () => import('./pages/model/page.tsx') },
  {
    path: '/ui/routing',
    title: 'Routing',
    load: () => import('./pages/routing/page.tsx'),
    nav: { group: 'Look', icon: 'routing', key: 't' },
  },
  {
    path: '/ui/evaluations',
    title: 'Evaluations',
    load: () => import('./pages/evaluations/page.tsx'),
    nav: { group: 'Look', icon: 'evaluations', key: 'e' },
    isForOperators: true,
  },
  {
    path: '/ui/datasets',
    title: 'Datasets',
    load: () => import('./pages/datasets/page.tsx'),
    nav: { group: 'Look', icon: 'datasets' },
    isForOperators: true,
  },
  {
    path: '/ui/classifiers',
    title: 'Classifiers',
    load: () => import('./pages/classifiers/page.tsx'),
    nav: { group: 'Look', icon: 'sessions' },
    isForOperators: true,
  },
  {
    path: '/ui/keys',
    title: 'Keys',
    load: () => import('./pages/keys/page.tsx'),
    nav: { group: 'Manage', icon: 'keys', key: 'k' },
    isForOperators: true,
    users: 'all',
  },
  {
    path: '/ui/keys/$hash',
    title: 'Key',
    load: () => import('./pages/key/page.tsx'),
    isForOperators: true,
    users: 'all',
  },
  {
    path: '/ui/money',
    title: 'Money',
    load: () => import('./pages/money/page.tsx'),
    nav: { group: 'Manage', icon: 'money', key: '$' },
    isForOperators: true,
  },
  {
    path: '/ui/providers',
    title: 'Providers',
    load: () => import('./pages/providers/page.tsx'),
    nav: { group: 'Manage', icon: 'providers', key: 'c' },
    isForOperators: true,
  },
  {
    path: '/ui/guardrails',
    title: 'Guardrails',
    load: () => import('./pages/guardrails/page.tsx'),
    nav: { group: 'Manage', icon: 'guardrails', key: 'u' },
    isForOperators: true,
    users: 'admins',
  },
  {
    path: '/ui/presets',
    title: 'Presets',
    load: () => import('./pages/presets/page.tsx'),
    nav: { group: 'Manage', icon: 'presets', key: 's' },
  },
  { path: '/ui/presets/$slug', title: 'Preset', load: () => import('./pages/preset/page.tsx') },
  {
    path: '/ui/workspaces',
    title: 'Workspaces',
    load: () => import('./pages/workspaces/page.tsx'),
    nav: { group: 'Manage', icon: 'workspaces', key: 'w' },
    isForOperators: true,
    users: 'all',
  },
  {
    path: '/ui/people',
    title: 'People',
    load: () => import('./pages/people/page.tsx'),
    nav: { group: 'Manage', icon: 'people' },
    isForOperators: true,
    users: 'admins',
  },
  {
    path: '/ui/provisioning',
    title: 'Provisioning',
    load: () => import('./pages/provisioning/page.tsx'),
    nav: { group: 'Manage', icon: 'link' },
    isForOperators: true,
  },
  {
    path: '/ui/tools',
    title: 'Tools',
    load: () => import('./pages/tools/page.tsx'),
    nav: { group: 'Run', icon: 'tools' },
    isForOperators: true,
  },
  {
    path: '/ui/mcp',
    title: 'MCP server',
    load: () => import('./pages/mcp/page.tsx'),
    nav: { group: 'Run', icon: 'external' },
    isForOperators: true,
  },
  {
    path: '/ui/interns',
    title: 'Interns',
    load: () => import('./pages/interns/page.tsx'),
    nav: { group: 'Run', icon: 'user', key: 'i' },
    isForOperators: true,
  },
  {
    path: '/ui/vault',
    title: 'Vault',
    load: () => import('./pages/vault/page.tsx'),
    nav: { group: 'Run', icon: 'lock', key: 'v' },
    isForOperators: true,
  },
  {
    path: '/ui/containers',
    title: 'Containers',
    load: () => import('./pages/containers/page.tsx'),
    nav: { group: 'Run', icon: 'box' },
    isForOperators: true,
  },
  {
    path: '/ui/files',
    title: 'Files',
    load: () => import('./pages/files/page.tsx'),
    nav: { group: 'Run', icon: 'files', key: 'f' },
  },
  {
    path: '/ui/clips',
    title: 'Clips',
    load: () => import('./pages/clips/page.tsx'),
    nav: { group: 'Run', icon: 'play' },
  },
  {
    path: '/ui/responses',
    title: 'Responses',
    load: () => import('./pages/responses/page.tsx'),
    nav: { group: 'Run', icon: 'sessions' },
  },
  {
    path: '/ui/destinations',
    title: 'Destinations',
    load: () => import('./pages/destinations/page.tsx'),
    nav: { group: 'Run', icon: 'destinations', key: 'd' },
    isForOperators: true,
    users: 'admins',
  },
  {
    path: '/ui/notifications',
    title: 'Notifications',
    load: () => import('./pages/notifications/page.tsx'),
    nav: { group: 'Run', icon: 'bell', key: 'n' },
    isForOperators: true,
  },
  {
    path: '/ui/jobs',
    title: 'Jobs',
    load: () => import('./pages/jobs/page.tsx'),
    nav: { group: 'Run', icon: 'start' },
    isForOperators: true,
  },
  {
    path: '/ui/audit',
    title: 'Audit',
    load: () => import('./pages/audit/page.tsx'),
    nav: { group: 'Run', icon: 'audit', key: 'l' },
    isForOperators: true,
  },
  {
    path: '/ui/health',
    title: 'Health',
    load: () => import('./pages/health/page.tsx'),
    nav: { group: 'Run', icon: 'health', key: 'h' },
    isForOperators: true,
  },
  {
    path: '/ui/settings',
    title: 'Settings',
    load: () => import('./pages/settings/page.tsx'),
    nav: { group: 'Run', icon: 'settings', key: ',' },
  },
  { path: '/ui/start', title: 'First run', load: () => import('./pages/start/page.tsx'), isForOperators: true },
  { path: '/ui/authorize', title: 'Consent', load: () => import('./pages/authorize/page.tsx') },
  { path: '/ui/connect', title: 'Connect a program', load: () => import('./pages/connect/page.tsx') },
];
