/** Containers and codecs of sound that their bytes distinguish. */
export type AudioType = 'wav' | 'mp3' | 'flac' | 'ogg' | 'webm' | 'mp4' | 'aac' | 'amr' | 'caf';
