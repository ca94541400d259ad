import type { Search } from '../../parts/search.ts';

export interface NotificationsSearch {
  readonly tab: 'channels' | 'sent';
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseNotificationsSearch(search: Search): NotificationsSearch {
  return {
    tab: search['tab'] === 'sent' ? 'sent' : 'channels',
    peek: search['peek'] ?? '',
    isNew: search['new'] === 'true',
  };
}
