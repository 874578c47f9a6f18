// alula-plugin-host: one hook of a plugin of tier C, in a process of its own.
//   alula-plugin-host FILE STAGE EXECUTABLE TARGET NAME=VALUE… <input >reply
// Status 86: the plugin leaves it as it is.

#include "compiler/plugin/loader.h"
#include "compiler/plugin/session.h"
#include "tools/options/answer.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace alula::plugin;

static int fail(const Twine &text, int status = 1) {
  errs() << text << "\n";
  return status;
}

int main(int argc, char **argv) {
  alula::options::Tool tool = {
      "alula-plugin-host",
      {"FILE STAGE EXECUTABLE TARGET [NAME=VALUE...] < INPUT > REPLY"},
      "run a hook of a compiler plugin in a process of its own",
      "Runs one hook of a plugin of tier C; alula-compile --plugin-isolate "
      "starts it.\nStatus 86: the plugin leaves the executable as it is.",
      "",
      {},
      {},
      {},
      {}};
  tool.llvm = LLVM_VERSION_STRING;
  if (auto status = alula::options::answer(tool, argc, argv))
    return *status;
  if (argc < 5)
    return fail("usage: alula-plugin-host FILE STAGE EXECUTABLE TARGET "
                "[NAME=VALUE...]",
                2);
  LoadOptions options;
  options.files = {argv[1]};
  options.noDefaults = true;
  auto set = loadPlugins(options);
  if (!set)
    return fail(toString(set.takeError()), 2);
  std::vector<OptionSetting> settings;
  StringRef id = (*set)->plugins.front()->getId();
  for (int i = 5; i < argc; ++i) {
    auto [name, value] = StringRef(argv[i]).split('=');
    if (!value.empty())
      settings.push_back({id.str(), name.str(), value.str()});
  }
  auto session = Session::create(*set, settings);
  if (!session)
    return fail(toString(session.takeError()));
  auto input = MemoryBuffer::getSTDIN();
  if (!input)
    return fail(input.getError().message());
  alula_stage stage = (*session)->makeStage(argv[2], argv[3], argv[4]);
  Session::Reply reply = (*session)->rewrite((*session)->getInstances().front(),
                                             stage, (*input)->getBuffer());
  if (auto *failure = std::get_if<Session::Failure>(&reply))
    return fail(failure->text, failure->isCrash ? 70 : 1);
  const std::string &bytes = std::get<std::string>(reply);
  if (bytes.empty())
    return 86;
  outs() << bytes;
  outs().flush();
  return outs().has_error() ? fail("can't write") : 0;
}
