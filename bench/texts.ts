/** Real text for the benchmarks: capabilities, and an endless supply of different requests in both languages. */
import type { CapabilityObject } from '../src/contract/index.ts';

export const CAPABILITIES: readonly CapabilityObject[] = [
  { name: 'weather.query.city', description: 'Weather forecast for a city: rain, temperature, wind' },
  { name: 'mail.send.message', description: 'Send an email to a person or a list' },
  { name: 'calendar.create.event', description: 'Create an event in a calendar and invite people' },
  { name: 'finance.query.stock', description: '查询股票的实时价格和走势' },
  { name: 'food.order.delivery', description: '点外卖，送到家或公司' },
  { name: 'text.translate.document', description: 'Translate a text between languages' },
  { name: 'travel.book.flight', description: 'Search and book a flight' },
  { name: 'travel.book.hotel', description: '预订酒店房间' },
  { name: 'music.play.song', description: 'Play a song, an album or a radio station' },
  { name: 'home.control.light', description: 'Switch lights on and off, dim them, change their colour' },
  { name: 'health.book.appointment', description: '预约医生门诊' },
  { name: 'news.read.headline', description: 'Read the news headlines of today' },
  { name: 'code.review.change', description: 'Review a code change and point out bugs' },
  { name: 'invoice.issue.document', description: '开具发票' },
  { name: 'parcel.track.shipment', description: 'Track a parcel and say when it arrives' },
  { name: 'taxi.call.ride', description: '叫车去某个地方' },
];

const CITIES = ['Hangzhou', 'Berlin', 'Nairobi', 'Lima', 'Osaka', 'Toronto', 'Cairo', 'Porto', 'Oslo', 'Hanoi'];
const CITIES_ZH = ['杭州', '北京', '成都', '广州', '西安', '南京', '武汉', '青岛', '厦门', '昆明'];
const PEOPLE = ['my boss', 'Anna', 'the whole team', 'Mr Li', 'my landlord', 'the supplier', 'Tom', 'our lawyer'];
const DAYS = ['tomorrow', 'on Monday', 'next week', 'this weekend', 'on the third', 'tonight', 'in the morning'];
const DAYS_ZH = ['明天', '周一', '下周', '这个周末', '三号', '今晚', '早上'];

const TEMPLATES: readonly ((pick: (list: readonly string[]) => string, n: number) => string)[] = [
  (pick, n) => `will it rain in ${pick(CITIES)} ${pick(DAYS)} after ${n % 24} o'clock`,
  (pick, n) => `${pick(DAYS_ZH)}${pick(CITIES_ZH)}会下雨吗，气温有${n % 40}度吗`,
  (pick, n) => `send an email to ${pick(PEOPLE)} about invoice ${n}`,
  (pick, n) => `给${pick(CITIES_ZH)}的客户发一封关于第${n}号合同的邮件`,
  (pick, n) => `book a flight to ${pick(CITIES)} ${pick(DAYS)} for ${(n % 6) + 1} people under ${n} dollars`,
  (pick, n) => `帮我订${pick(DAYS_ZH)}去${pick(CITIES_ZH)}的机票，预算${n}元`,
  (pick, n) => `set up a meeting with ${pick(PEOPLE)} ${pick(DAYS)} in room ${n}`,
  (pick, n) => `叫一辆车${pick(DAYS_ZH)}去${pick(CITIES_ZH)}第${n}中学`,
];

/** The n-th of a series of requests without repeats. */
export function request(n: number): string {
  let state = n;
  const pick = (list: readonly string[]): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return list[(state >> 8) % list.length] ?? '';
  };
  const template = TEMPLATES[n % TEMPLATES.length];
  return template === undefined ? '' : template(pick, n);
}
