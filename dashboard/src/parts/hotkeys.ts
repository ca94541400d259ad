import { useEffect, useRef } from 'react';

/** Keys of one part of the page: `k`, `Shift+f`, `Ctrl+k` (also Command), or two letters, `g r`. */
export type Hotkeys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const SEQUENCE_MS_MAX = 1_000;
const SWITCH_NAME = 'gateway.single-keys';
let pending: { readonly key: string; readonly at: number } | undefined;

/** Whether letters alone are commands: WCAG 2.1.4 wants a switch. */
export function areSingleKeysOn(): boolean {
  return localStorage.getItem(SWITCH_NAME) !== 'off';
}

export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(SWITCH_NAME, isOn ? 'on' : 'off');
}

export function useHotkeys(hotkeys: Hotkeys): void {
  const latest = useRef(hotkeys);
  useEffect(() => {
    latest.current = hotkeys;
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const name = nameOf(event);
      if (!isAllowed(event, name)) return;
      const sequence =
        pending !== undefined && event.timeStamp - pending.at < SEQUENCE_MS_MAX ? `${pending.key} ${name}` : undefined;
      const action =
        (sequence === undefined ? undefined : latest.current[sequence]) ??
        (sequence === undefined ? latest.current[name] : undefined);
      if (action === undefined) return;
      event.preventDefault();
      pending = undefined;
      action(event);
    };
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}

/** Remembers the first letter of two. Registered at the window, so that it comes after the listeners of the document. */
export function rememberKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || !isAllowed(event, nameOf(event))) return;
  pending = event.key.length === 1 ? { key: event.key, at: event.timeStamp } : undefined;
}

function nameOf(event: KeyboardEvent): string {
  const modifier = event.ctrlKey || event.metaKey ? 'Ctrl+' : '';
  const alt = event.altKey ? 'Alt+' : '';
  const shift = event.shiftKey && /^[A-Z]$|^.{2,}$/.test(event.key) ? 'Shift+' : '';
  return `${modifier}${alt}${shift}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`;
}

/** A letter is a letter inside a field, and while a dialog is open it belongs to the dialog. */
function isAllowed(event: KeyboardEvent, name: string): boolean {
  if (name.startsWith('Ctrl+') || name.startsWith('Alt+')) return true;
  const target = event.target instanceof Element ? event.target : undefined;
  const isTyping = target?.closest('input, textarea, select, [contenteditable="true"]') ?? null;
  if (isTyping !== null || document.querySelector('[role="dialog"][data-modal]') !== null) return false;
  return event.key.length > 1 || areSingleKeysOn();
}
