package repositories

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/repository"
)

// fakeTerminal records what a terminal would get.
type fakeTerminal struct{ bytes.Buffer }

func (*fakeTerminal) IsTerminal() bool { return true }

// clock goes on by a step whenever it is looked at.
func clock(step time.Duration) func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func TestTransferLines(t *testing.T) {
	const clear = terminal.ClearRight
	type event struct {
		expect int64
		add    int
		say    string
	}
	steps := []event{{expect: 4 << 20}, {add: 1 << 20}, {add: 1 << 20}, {say: "a remark"}, {add: 2 << 20}}
	for _, test := range []struct {
		reason   string
		terminal bool
		quiet    bool
		step     time.Duration
		events   []event
		want     string
	}{
		{"a terminal has one line that changes and is then removed", true, false, time.Second, steps,
			"\rdownloading x: 1.0 MiB of 4.0 MiB (25%), 1.0 MiB/s" + clear + "\rdownloading x: 2.0 MiB of 4.0 MiB (50%), 1.0 MiB/s" + clear +
				"\r" + clear + "a remark\n" + "\rdownloading x: 4.0 MiB of 4.0 MiB (100%), 1.3 MiB/s" + clear + "\r" + clear},
		{"a file gets lines", false, false, 5 * time.Second, steps,
			"  5s  downloading x: 1.0 MiB of 4.0 MiB (25%), 204.8 KiB/s\n 10s  downloading x: 2.0 MiB of 4.0 MiB (50%), 204.8 KiB/s\na remark\n 15s  downloading x: 4.0 MiB of 4.0 MiB (100%), 273.1 KiB/s\n"},
		{"no more than a line every few seconds", false, false, 2 * time.Second, []event{{add: 1}, {add: 1}, {add: 1}, {add: 1}},
			"  6s  downloading x: 3 B, 0 B/s\n"},
		{"a terminal is not redrawn for every packet", true, false, 40 * time.Millisecond, []event{{add: 1024}, {add: 1024}, {add: 1024}, {add: 1024}},
			"\rdownloading x: 3.0 KiB, 25.0 KiB/s" + clear + "\r" + clear},
		{"the size is not known any more: no percentage", false, false, 5 * time.Second, []event{{expect: 10}, {expect: -1}, {expect: 10}, {add: 5}},
			"  5s  downloading x: 5 B, 1 B/s\n"},
		{"no progress is wanted", true, true, time.Minute, steps, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var shown fakeTerminal
			var file bytes.Buffer
			var out io.Writer = &file
			if test.terminal {
				out = &shown
			}
			p := NewTransfer(terminal.Streams{Err: out}, test.quiet)
			p.now = clock(test.step)
			p.begin("downloading x")
			for _, e := range test.events {
				switch {
				case e.say != "":
					p.Say(e.say)
				case e.expect != 0:
					p.expect(e.expect)
				default:
					p.add(e.add)
				}
			}
			p.End()
			if got := shown.String() + file.String(); got != test.want {
				t.Errorf("%s:\ngot  %q\nwant %q", test.reason, got, test.want)
			}
		})
	}
}

func TestByteSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 40: "3072.0 GiB"} {
		if got := ByteSize(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}

const largeText = 200_000

// largeArchive is an archive with a component version: a large blob of its own,
// an image of two platforms and one without.
func largeArchive(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	target, err := ctf.Create(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close() //nolint:errcheck // a directory
	push := func(mediaType, text string) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromString(text), Size: int64(len(text))}
		if err := target.Push(t.Context(), "images/web", d, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	config, layer := push("application/vnd.oci.image.config.v1+json", "{}"), push("application/octet-stream", strings.Repeat("l", largeText))
	manifest := push(ocispec.MediaTypeImageManifest, manifestText(config, layer))
	index := push(ocispec.MediaTypeImageIndex, `{"schemaVersion":2,"manifests":[`+descriptorText(manifest)+`]}`)
	for tag, at := range map[string]ocispec.Descriptor{"one": manifest, "many": index} {
		if err := target.Tag(t.Context(), "images/web", at, tag); err != nil {
			t.Fatal(err)
		}
	}
	constructor, err := publish.Parse([]byte(`
name: example.org/shop/web
version: 1.0.0
provider: p
resources:
- {name: blob, type: t, input: {type: utf8, text: ` + strings.Repeat("b", largeText) + `}}
- {name: image, type: t, version: "1", access: {type: relativeOciReference, reference: "images/web:one"}}
- {name: platforms, type: t, version: "1", access: {type: relativeOciReference, reference: "images/web:many"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	spec := repository.Spec{Kind: repository.KindCTF, FilePath: directory}
	if _, err := publish.Publish(t.Context(), constructor, publish.Options{Target: target, Spec: spec}); err != nil {
		t.Fatal(err)
	}
	return directory
}

func descriptorText(d ocispec.Descriptor) string {
	return `{"mediaType":"` + d.MediaType + `","digest":"` + d.Digest.String() + `","size":` + strconv.FormatInt(d.Size, 10) + `}`
}

func manifestText(config ocispec.Descriptor, layers ...ocispec.Descriptor) string {
	texts := make([]string, 0, len(layers))
	for _, layer := range layers {
		texts = append(texts, descriptorText(layer))
	}
	return `{"schemaVersion":2,"config":` + descriptorText(config) + `,"layers":[` + strings.Join(texts, ",") + `]}`
}

// TestDownloadIsMeasuredAtItsSource downloads contents of all kinds and checks the last
// line of the terminal before the line is removed.
func TestDownloadIsMeasuredAtItsSource(t *testing.T) {
	at, err := Locate(largeArchive(t))
	if err != nil {
		t.Fatal(err)
	}
	access, err := (&Flags{}).Access((&terminaltest.Console{}).Streams())
	if err != nil {
		t.Fatal(err)
	}
	session, err := access.Session(at)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // nothing was written
	version, err := session.Resolve(t.Context(), component.Reference{Name: "example.org/shop/web", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ reason, name, want string }{
		{"a blob knows its size", "blob", "downloading blob: 195.3 KiB of 195.3 KiB (100%), "},
		{"an image has that of its blobs", "image", "downloading image: 195.3 KiB of 195.3 KiB (100%), "},
		{"of many platforms it is known at the end only", "platforms", "downloading platforms: 195.3 KiB, "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			resource, err := version.Resource(descriptor.Named(test.name))
			if err != nil {
				t.Fatal(err)
			}
			shown := &fakeTerminal{}
			p := NewTransfer(terminal.Streams{Err: shown}, false)
			p.now = clock(time.Second)
			content, err := session.Download(t.Context(), version, resource, p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, content); err != nil {
				t.Fatal(err)
			}
			if err := content.Close(); err != nil {
				t.Error(err)
			}
			lines := strings.Split(shown.String(), "\r")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, test.want) {
				t.Errorf("the last line is %q, want %q", last, test.want)
			}
		})
	}
}

func TestReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reader := newMeter(NewTransfer(terminal.Streams{Err: io.Discard}, true)).stream(ctx, strings.NewReader("text"))
	if _, err := reader.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel(terminal.ErrTimeout)
	if _, err := reader.Read(make([]byte, 1)); !errors.Is(err, terminal.ErrTimeout) {
		t.Errorf("a local file must not be read to its end after that: %v", err)
	}
}

// TestMeterLeavesManifestsAsTheyAre guards the digest of what a meter passes on.
func TestMeterLeavesManifestsAsTheyAre(t *testing.T) {
	opened, err := ctf.Open(largeArchive(t))
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close() //nolint:errcheck // nothing was written
	m := newMeter(NewTransfer(terminal.Streams{Err: io.Discard}, true))
	m.start()
	store := m.store(opened)
	at, err := store.Resolve(t.Context(), "images/web", "many")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := oci.Read(t.Context(), store, "images/web", at, oci.MaxManifest)
	if err != nil || digest.FromBytes(raw) != at.Digest {
		t.Errorf("the manifest has another digest (%v)", err)
	}
}

// TestSeveralAtOnce: contents that are written at the same time are counted together.
func TestSeveralAtOnce(t *testing.T) {
	out := &fakeTerminal{}
	p := &Transfer{out: out, terminal: true, now: clock(time.Second)}
	p.Reading("image", 1<<20, 0)
	p.Reading("image", 2<<20, 4<<20)
	p.beginOne("writing a", 2<<20)
	p.add(1 << 20)
	p.beginOne("writing b", 2<<20)
	p.endOne()
	p.add(1 << 20)
	p.endOne()
	const clear = terminal.ClearRight
	want := "\rreading image: 2.0 MiB of 4.0 MiB" + clear + "\rwriting a: 1.0 MiB of 2.0 MiB (50%), 1.0 MiB/s" + clear +
		"\rwriting several contents: 2.0 MiB of 4.0 MiB (50%), 1.0 MiB/s" + clear + "\r" + clear
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
