import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';
const NAME = 'gateway.theme';
const listeners = new Set<() => void>();

function readTheme(): Theme {
  const kept = localStorage.getItem(NAME);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

/** Before the first frame, and after each change. */
export function applyTheme(): void {
  const theme = readTheme();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  for (const listener of listeners) listener();
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, theme);
  applyTheme();
}

export function toggleTheme(): void {
  setTheme(isDark() ? 'light' : 'dark');
}

function isDark(): boolean {
  const theme = readTheme();
  return theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
}

/** `dark` or `light`, whatever it comes from: charts on a canvas have to know. */
export function useIsDark(): boolean {
  return useSyncExternalStore((listener) => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    listeners.add(listener);
    media.addEventListener('change', listener);
    return () => {
      listeners.delete(listener);
      media.removeEventListener('change', listener);
    };
  }, isDark);
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, readTheme);
}
