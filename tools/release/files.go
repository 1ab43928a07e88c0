package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"go.landscaper.dev/tools/release/channel"
	"go.landscaper.dev/tools/release/document"
	"go.landscaper.dev/tools/release/pack"
	"go.landscaper.dev/tools/release/program"
	"go.landscaper.dev/tools/release/system"
)

// fileName is how the files of a program for a platform begin.
func (r *release) fileName(p program.Program, on program.Platform) string {
	return fmt.Sprintf("%s_%s_%s_%s", p.Name, r.version, on.OS, on.Arch)
}

// documents are the completions and man pages of the command line.
func (r *release) documents(ctx context.Context) ([]pack.File, error) {
	completions, err := document.Completions(ctx)
	if err != nil {
		return nil, err // says what it did
	}
	pages, err := document.Manual(r.version, r.at)
	return append(completions, pages...), err
}

// archives packs each program with its texts, and writes what package managers read that download archives.
func (r *release) archives(context.Context) error {
	published := channel.Release{Name: program.CommandLine.Name, Version: r.version, Summary: program.CommandLine.Summary, Homepage: r.home}
	for _, p := range program.All() {
		for _, platform := range r.on(p) {
			files := append([]pack.File{{Name: p.File(platform), Data: r.programs[p.Name][platform], Mode: 0o755}}, r.notices...)
			if p.Name == program.CommandLine.Name {
				files = append(files, r.texts...)
			}
			name, content, err := r.archive(p, platform, files)
			if err != nil {
				return err // says what it did
			}
			if err := r.write(name, content); err != nil {
				return err // names the file
			}
			if p.Name == program.CommandLine.Name {
				published.Archives = append(published.Archives, channel.Archive{OS: platform.OS, Arch: platform.Arch, URL: r.downloads + "/" + name, SHA256: fmt.Sprintf("%x", sha256.Sum256(content))})
			}
		}
	}
	for name := range channel.Channels {
		text, err := published.Write(name)
		if err != nil {
			return err // says what it did
		}
		if err := r.write(name, text); err != nil {
			return err // names the file
		}
	}
	return nil
}

func (r *release) archive(p program.Program, on program.Platform, files []pack.File) (name string, content []byte, err error) {
	if on.OS == "windows" {
		content, err = pack.Zip(r.at, files...)
		return r.fileName(p, on) + ".zip", content, err
	}
	content, err = pack.TarGz(r.at, files...)
	return r.fileName(p, on) + ".tar.gz", content, err
}

// places are where the files of the command line are on a machine with Linux.
var places = map[string]string{
	"completions/landscaper-cli.bash": "usr/share/bash-completion/completions/landscaper-cli",
	"completions/_landscaper-cli":     "usr/share/zsh/site-functions/_landscaper-cli",
	"completions/landscaper-cli.fish": "usr/share/fish/vendor_completions.d/landscaper-cli.fish",
}

// packages makes the packages for Linux. The server runs in clusters, and has an image instead.
func (r *release) packages(context.Context) error {
	p := program.CommandLine
	for _, platform := range r.on(p) {
		if platform.OS != "linux" {
			continue
		}
		files := []pack.File{{Name: "usr/bin/" + p.Name, Data: r.programs[p.Name][platform], Mode: 0o755}}
		for _, notice := range r.notices {
			files = append(files, pack.File{Name: "usr/share/doc/" + p.Name + "/" + notice.Name, Data: notice.Data})
		}
		for _, file := range r.texts {
			if place, ok := places[file.Name]; ok {
				files = append(files, pack.File{Name: place, Data: file.Data})
			} else if page, ok := strings.CutPrefix(file.Name, "man/"); ok && page != "" {
				files = append(files, pack.File{Name: "usr/share/man/man1/" + page, Data: file.Data})
			}
		}
		for _, format := range system.Formats {
			packed, err := system.Package{
				Name: p.Name, Version: r.version, Arch: platform.Arch, Summary: p.Summary, Homepage: r.home, At: r.at, Files: files,
			}.Pack(format)
			if err != nil {
				return err // names the package
			}
			if err := r.write(r.fileName(p, platform)+"."+format, packed); err != nil {
				return err // names the file
			}
		}
	}
	return nil
}
