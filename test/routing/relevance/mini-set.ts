/**
 * A small registry and what people ask of it, in both languages, written for this repository and used for no fit:
 * what the real model and the shipped weights must go on answering.
 */
export interface MiniCapability {
  readonly name: string;
  readonly description: string;
  readonly examples: readonly string[];
}

export const CAPABILITIES: readonly MiniCapability[] = [
  {
    name: 'weather.query.city',
    description: 'Weather forecast for a city: rain, temperature, wind',
    examples: ['will it rain in Oslo tomorrow', '明天上海多少度', 'do I need an umbrella today', '周末会刮风吗'],
  },
  { name: 'mail.send.message', description: 'Send an email to a person or a list', examples: [] },
  { name: 'calendar.create.event', description: 'Create an event in a calendar and invite people', examples: [] },
  {
    name: 'billing.cancel.subscription',
    description: 'Cancel a subscription or a paid plan',
    examples: ['stop charging me every month', '我不想续费了', 'end my membership', '取消自动续订'],
  },
  { name: 'finance.query.stock', description: '查询股票的实时价格和走势', examples: [] },
  { name: 'food.order.delivery', description: '点外卖，送到家或公司', examples: [] },
  { name: 'text.translate.document', description: 'Translate a text between languages', examples: [] },
  {
    name: 'travel.book.flight',
    description: 'Search and book a flight',
    examples: [
      'two seats to Lisbon on Friday',
      '订一张去广州的机票',
      'cheapest plane ticket to Rome',
      '改签明天的航班',
    ],
  },
  { name: 'travel.book.hotel', description: '预订酒店房间', examples: [] },
  { name: 'music.play.song', description: 'Play a song, an album or a radio station', examples: [] },
  { name: 'home.control.light', description: 'Switch lights on and off, dim them, change their colour', examples: [] },
  { name: 'health.book.appointment', description: '预约医生门诊', examples: [] },
  { name: 'news.read.headline', description: 'Read the news headlines of today', examples: [] },
  { name: 'code.review.change', description: 'Review a code change and point out bugs', examples: [] },
  { name: 'invoice.issue.document', description: '开具发票', examples: [] },
  { name: 'parcel.track.shipment', description: 'Track a parcel and say when it arrives', examples: [] },
  { name: 'taxi.call.ride', description: '叫车去某个地方', examples: [] },
  { name: 'image.generate.picture', description: 'Draw a picture from a description in words', examples: [] },
];

/** Capability -> requests, English and Chinese by turns. */
export const SERVED: Readonly<Record<string, readonly string[]>> = {
  'weather.query.city': [
    'is it going to snow in Helsinki this week',
    '后天北京下雨吗',
    'how hot is it in Cairo',
    '杭州今天的天气怎么样',
  ],
  'mail.send.message': [
    'email the report to Anna',
    '给客户发一封邮件',
    'send a message to my boss by mail',
    '把合同用邮件发给王经理',
  ],
  'calendar.create.event': [
    'put a meeting with Tom on Monday in my calendar',
    '明天下午三点建一个会议日程',
    'schedule a team sync for next week',
    '在日历里加一个提醒开会的事件',
  ],
  'billing.cancel.subscription': [
    'cancle my subscripton',
    '帮我退订会员',
    'I want to stop my paid plan',
    '把包月套餐停掉',
  ],
  'finance.query.stock': [
    'what is the share price of Apple',
    '茅台现在股价多少',
    'show me how Tesla stock is doing',
    '看看腾讯今天的走势',
  ],
  'food.order.delivery': [
    'order a pizza to my office',
    '帮我点一份宫保鸡丁外卖',
    'I want dinner delivered home',
    '叫个外卖送到公司',
  ],
  'text.translate.document': [
    'translate this contract into German',
    '把这段话翻译成英文',
    'what is this letter in Chinese, translate please',
    '帮我把说明书译成日语',
  ],
  'travel.book.flight': [
    'book me a flight to Hanoi on the third',
    '买一张明早飞成都的机票',
    'find a plane to Berlin next Tuesday',
    '查一下下周去东京的航班',
  ],
  'travel.book.hotel': [
    'reserve a hotel room in Porto for two nights',
    '在西安订个酒店',
    'I need a place to stay in Kyoto',
    '帮我预订一间大床房',
  ],
  'music.play.song': ['play some jazz', '放一首周杰伦的歌', 'put on the new album by Adele', '播放轻音乐'],
  'home.control.light': [
    'turn off the lamp in the kitchen',
    '把客厅的灯关掉',
    'make the bedroom light blue',
    '灯光调暗一点',
  ],
  'health.book.appointment': [
    'make an appointment with a dentist',
    '帮我挂个内科门诊',
    'I need to see a doctor on Friday',
    '预约明天的医生',
  ],
  'news.read.headline': [
    'what is in the news today',
    '读一下今天的新闻头条',
    'tell me the headlines',
    '今天有什么新闻',
  ],
  'code.review.change': [
    'review my pull request',
    '帮我检查这段代码有没有问题',
    'find bugs in this diff',
    '审查一下这次代码改动',
  ],
  'invoice.issue.document': [
    'issue an invoice for order 5512',
    '给我开一张增值税发票',
    'I need an invoice for this purchase',
    '开具电子发票',
  ],
  'parcel.track.shipment': [
    'where is my package',
    '我的快递到哪里了',
    'when does shipment 7781 arrive',
    '查一下包裹物流',
  ],
  'taxi.call.ride': ['get me a cab to the airport', '叫辆车去火车站', 'call a taxi', '打车去国贸'],
  'image.generate.picture': [
    'draw a cat on a bicycle',
    '画一幅山水画',
    'generate an image of a sunset over the sea',
    '生成一张海报图片',
  ],
};

/** What nothing above serves. */
export const UNSERVED: readonly string[] = [
  '今天心情不错',
  'I had a strange dream last night',
  'who won the world cup in 1998',
  '你觉得人生的意义是什么',
  'solve this differential equation',
  '帮我写一份辞职信的开场白吧',
  'how do I become taller',
  '我家的猫不吃东西怎么办',
  'recommend a good novel',
  '唐朝有多少个皇帝',
  'compress this folder into an archive',
  '给我的手机充话费',
  'rotate the database password',
  '明天要不要去健身房',
  'what is the capital of Peru',
  '把硬盘格式化',
];
