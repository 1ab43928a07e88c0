# Plays Homebrew for one formula: reads it for Linux on FORMULA_ARCH, installs the unpacked archive
# into a prefix, runs the formula's own test, and prints what was chosen as JSON.
require "fileutils"
require "json"
require "pathname"

# Place is a folder of the prefix, with what formulas call on it.
class Place < Pathname
  def install(*items)
    items.flatten.each do |item|
      pairs = item.is_a?(Hash) ? item : { item => File.basename(item) }
      raise "nothing to install in #{self}" if pairs.empty?
      pairs.each do |from, name|
        mkpath
        FileUtils.cp(from, self / name)
      end
    end
  end

  def install_symlink(pairs)
    pairs.each { |from, name| FileUtils.ln_s(from, self / name) }
  end
end

# Formula has what the formula says about the platform.
class Formula
  CHOSEN = {}
  PREFIX = Pathname.new(ARGV[2])
  FOLDERS = {
    bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
    zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d"
  }.freeze

  class << self
    %i[desc homepage license].each { |word| define_method(word) { |text| raise "#{word} is empty" if text.empty? } }
    %i[url sha256 version].each { |word| define_method(word) { |text| CHOSEN[word] = text } }

    def inherited(formula)
      super
      @formula = formula
    end

    attr_reader :formula, :check

    def on_macos; end

    def on_linux = yield

    def on_arm
      yield if ENV["FORMULA_ARCH"] == "arm64"
    end

    def on_intel
      yield if ENV["FORMULA_ARCH"] == "amd64"
    end

    def test(&check)
      @check = check
    end
  end

  FOLDERS.each { |name, folder| define_method(name) { Place.new(PREFIX / folder) } }

  def version = CHOSEN[:version]

  def shell_output(command)
    command = "#{ENV.fetch("FORMULA_EMULATOR")} #{command}" if ENV["FORMULA_ARCH"] == "arm64"
    output = `#{command}`
    raise "#{command} ends with #{$?.exitstatus}" unless $?.success?

    output
  end

  def assert_match(want, got)
    raise "#{got.inspect} does not match #{want}" unless got.match?(Regexp.escape(want))
  end
end

load ARGV[0]
formula = Formula.formula.new
Dir.chdir(ARGV[1]) { formula.install }
raise "the formula has no test" unless Formula.formula.check

formula.instance_eval(&Formula.formula.check)
puts JSON.generate(Formula::CHOSEN)
