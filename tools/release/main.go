// Command release makes everything that a release publishes: programs with their packages,
// images, charts, manifests, a component version, bills of material, provenance and signatures.
// The same commit and the same Go give the same bytes. docs/release.md says what there is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"go.landscaper.dev/tools/release/bill"
	"go.landscaper.dev/tools/release/program"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	var r release
	var platforms, key string
	var licences bool
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.folder, "source", ".", "folder of the main module")
	flags.StringVar(&r.out, "out", "dist", "folder for the release; what is there is replaced")
	flags.StringVar(&r.version, "version", "", "version, as in v0.1.0")
	flags.StringVar(&r.registry, "registry", "registry.example.org/landscaper", "where images, charts and the component will be")
	flags.StringVar(&r.home, "home", "https://go.landscaper.dev", "address of the repository")
	flags.StringVar(&r.downloads, "downloads", "", "address under which the files will be (default: HOME/releases/download/VERSION)")
	flags.StringVar(&r.builder, "builder", "https://go.landscaper.dev/builders/make-release", "identity of who builds, for the provenance")
	flags.StringVar(&platforms, "platforms", "", "platforms to build for, as in linux/amd64,linux/arm64 (default: all)")
	flags.StringVar(&key, "key", "", "file with the private key for signatures; its password is in $COSIGN_PASSWORD (default: nothing is signed)")
	flags.BoolVar(&r.push, "push", false, "push images, charts, the component and their signatures to the registry; credentials are those of $DOCKER_CONFIG")
	flags.BoolVar(&r.plainHTTP, "plain-http", false, "the registry has no TLS")
	flags.BoolVar(&r.dirty, "allow-dirty", false, "build from a folder with changes that are not committed; the programs then name no commit")
	flags.BoolVar(&licences, "licences", false, "only check the licences of all dependencies, and print what there is")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	r.platforms = program.Platforms()
	if platforms != "" {
		r.platforms = nil
		for text := range strings.SplitSeq(platforms, ",") {
			platform, err := program.ParsePlatform(text)
			if err != nil {
				return err
			}
			r.platforms = append(r.platforms, platform)
		}
	}
	if licences {
		return checkLicences(ctx, r.folder, r.platforms)
	}
	if err := r.prepare(ctx, key); err != nil {
		return err
	}
	return r.make(ctx)
}

// checkLicences fails when a licence does not fit, and otherwise sums up which ones there are.
func checkLicences(ctx context.Context, folder string, platforms []program.Platform) error {
	modules, err := bill.Collect(ctx, folder, platforms)
	if err != nil {
		return err
	}
	if err := errors.Join(bill.Check(modules)...); err != nil {
		return err
	}
	counted := map[string]int{}
	for _, module := range modules {
		counted[strings.Join(module.Licences(), " and ")]++
	}
	fmt.Printf("The licences of %d modules fit Apache-2.0: %s\n", len(modules), summary(counted))
	return nil
}
