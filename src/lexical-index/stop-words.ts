/**
 * Words that say nothing about what is wanted. Needed although idf exists: a registry of eight capabilities has seen
 * neither "please" nor "请", so idf alone would call them rare and therefore important. Listed as they stand after
 * `canonicalText`; Chinese entries are whole words of the segmenter.
 */
const ENGLISH = `a about all also am an and any anyone are as at be been being but by can cannot could did do does doing for
from get give go going had has have having he hello help her here hey hi him his how i if in into is it its just know let
like make may maybe me might mine my need needs no not now of off ok okay on one or our out please s she should so some
something t tell than thank thanks that the their them then there these they thing this those to too up us use used user
using very via want wanted wants was we were what when where which who whose why will wish with would yes you your d ll m
re ve don didn doesn isn aren won couldn wouldn shouldn im`;

const CHINESE = `的 了 吗 呢 吧 啊 呀 嘛 我 你 您 他 她 它 我们 你们 您们 他们 她们 它们 请 请问 帮 帮我 帮忙 给 把 被 让 将 对 从 到 在 于 和
与 及 或 或者 以及 还有 并 并且 而 但 但是 就 都 也 还 又 再 很 太 更 最 不 没 没有 有 是 会 能 能够 可 可以 想 想要 要 需要 应该 应 得 地 着 过
这 那 这个 那个 这些 那些 这里 那里 哪 哪个 哪些 哪里 什么 怎么 怎样 怎么样 如何 为什么 为 为了 谁 几 多少 一 一个 一些 一下 一点 个 些 种
用 使用 用于 通过 根据 进行 关于 等 等等 其 之 以 所 上 下 中 里 来 去 做 说 看 好 好的 谢谢 你好 您好`;

export const STOP_WORDS: ReadonlySet<string> = new Set(`${ENGLISH} ${CHINESE}`.split(/\s+/u));
