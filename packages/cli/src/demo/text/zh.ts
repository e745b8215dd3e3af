/** The demo in Chinese. */
import { short, type Words } from "./words.ts";

const ORDINALS = ["一", "二", "三", "四"] as const;

const MEANINGS: Readonly<Record<string, string>> = {
  happened: "已经做过，不再重做",
  absent: "确实没有做，现在用同一个键补做",
  not_started: "还没有开始，现在来做",
  conflict: "那里是别的内容，不覆盖",
  unknown: "无法判断，不重做",
};

const STEPS: Readonly<Record<string, string>> = {
  happened: "文件写完之后、记录之前被杀",
  absent: "文件写之前被杀",
  conflict: "文件写之前被杀，随后有人写了别的内容",
  unknown: "命令运行到一半时被杀，连看守命令的进程也一起没了",
};

export const zh: Words = {
  story: {
    items: [
      "把合同草稿发给小梅",
      "预订研讨会的会议室",
      "写发布说明",
      "评审备份方案",
      "联系印刷厂确认海报",
      "采购两个传感器",
      "修复首页的坏链接",
      "准备周四的幻灯片",
      "在小服务器上测试恢复",
      "邀请托马斯参加评审",
    ],
    notes(items, chance) {
      const mark = chance.pick(["待办：", "- [ ] ", "行动项："]);
      const talk = ["会议晚了十分钟开始。", "预算没有变化。", "数据大家都还没看。", "午饭不错。"];
      const lines = items.flatMap((item) => [chance.pick(talk), `${mark}${item}`, ""]);
      return ["# 周会纪要", "", ...lines].join("\n");
    },
    sayFirst: (notes, todo) => `读一下 ${notes}，整理出待办并保存到 ${todo}`,
    sayAgain: "现在可以了，再试一次",
    sayAfter: (asked) => `刚才第${ORDINALS[asked] ?? "一"}项待办，能不能再拆细一点？`,
  },
  narration: {
    title: (seed) => `一份待办清单，保存到一半时 kill -9   （种子 ${seed}）`,
    home: (path) => `临时目录 ${path}`,
    starts: (pid) => `启动网关：真实 HTTP，不联网，排练模型   （进程 ${pid}）`,
    readOnly: (directory) => `目录 ${directory}/ 是只读的`,
    you: "你",
    granted: "放行",
    grants: (directory) => `你放行：chmod 0700 ${directory}`,
    standsStill: (point) => `进程停在 ${point}。此刻有什么？`,
    onDisk: "磁盘上",
    fileIs: (path, bytes, inode) => `${path}，${bytes} 字节，inode ${inode}`,
    fileIsNot: (path) => `没有 ${path}`,
    inLog: "记录里",
    logHas: (intents, results) =>
      `${intents === 0 ? "有写入的请求，没有意图记录" : "有写入的意图记录"}，${results === 0 ? "没有结果" : `有 ${results} 条结果`}`,
    killed: (pid) => `kill -9 ${pid}：来不及说再见`,
    startsAgain: (pid) => `新的网关打开同一个目录   （进程 ${pid}）`,
    verdict: "结论",
    verdictMeans: (verdict) => MEANINGS[verdict] ?? "",
    evidence: "证据",
    comparison: (planned, now) =>
      `要写入的 sha256 是 ${short(planned)}；磁盘上${now === null ? "没有这个文件" : `的 sha256 是 ${short(now)}`}`,
    noIntent: "没有意图记录，所以写入还没有开始",
    writes: "写入次数",
    writesSeen: (count) => `${count} 次，由外部监视目录数出`,
    goesOn: "对话继续",
    good: (path, seconds) => `${path} 恰好写入一次。共 ${seconds} 秒。`,
    bad: (what) => `结果不对：${what}`,
    kept: (path) => `保留在：${path}`,
    verdictsTitle: "四次调用，每次都被 kill -9 打断：事后能知道什么",
    verdictStep: (verdict) => STEPS[verdict] ?? verdict,
    modelReads: "模型看到",
    somebodyElse: "这时有人在同一位置写了另一个文件",
    everythingKilled: "kill -9：网关和看守命令的进程都没了，就像断电一样",
    verdictsGood: (seconds) => `四次调用，四种结论，没有任何事做了两遍。共 ${seconds} 秒。`,
  },
};
