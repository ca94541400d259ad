import DefaultTheme from 'vitepress/theme';
// oxlint-disable-next-line import/no-unassigned-import -- a bundler reads it
import './style.css';

export default DefaultTheme;
