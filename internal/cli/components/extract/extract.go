// Package extract unpacks what was downloaded.
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
)

// extractLimits are for archives that a user unpacks; they are held in memory
// before the first file is written.
func extractLimits() archive.Limits {
	return archive.Limits{Bytes: 1 << 30, Files: 100_000, Ratio: 1000, Depth: 64}
}

// Archive unpacks the archive in a file into a directory, and returns the number
// of files. A directory that is new appears when it is complete.
func Archive(ctx context.Context, file, mediaType, directory string) (int, error) {
	fail := func(err error) (int, error) {
		return 0, fmt.Errorf("unpack into %s: %w", directory, err)
	}
	tree, err := unpackFile(ctx, file, mediaType)
	if err != nil {
		return fail(fmt.Errorf("%w: download it without --extract to look at it", err))
	}
	if entries, err := os.ReadDir(directory); err == nil && len(entries) > 0 {
		count, err := writeTree(ctx, tree, directory)
		if err != nil {
			return fail(err)
		}
		return count, nil
	}
	temporary, err := os.MkdirTemp(filepath.Dir(directory), "."+filepath.Base(directory)+".partial-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(temporary) //nolint:errcheck // it has moved if all went well
	count, err := writeTree(ctx, tree, temporary)
	if err == nil {
		err = os.Chmod(temporary, 0o755)
	}
	if err == nil {
		// A directory that is empty gives way.
		_ = os.Remove(directory)
		err = os.Rename(temporary, directory)
	}
	if err != nil {
		return fail(err)
	}
	return count, nil
}

// unpackFile reads an archive; of an artifact with one layer that is no image,
// the layer.
func unpackFile(ctx context.Context, name, mediaType string) (fs.FS, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing is written
	if _, isSet := oci.IsSet(mediaType); !isSet {
		return archive.Unpack(file, extractLimits())
	}
	set, err := oci.ReadSet(file, extractLimits())
	if err != nil {
		return nil, err
	}
	if layer, err := onlyLayer(ctx, set); layer != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return archive.Unpack(bytes.NewReader(layer), extractLimits())
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return archive.Unpack(file, extractLimits())
}

// chartLayer is the type of the layer of a chart, beside which there may be one
// with its provenance.
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// onlyLayer returns the layer that an artifact was made for, or nil: images have
// no such layer.
func onlyLayer(ctx context.Context, set *oci.Set) ([]byte, error) {
	if oci.IsIndex(set.Main.MediaType) {
		return nil, nil
	}
	manifest, err := oci.ReadManifest(ctx, set, "", set.Main)
	if err != nil {
		return nil, err
	}
	switch manifest.Config.MediaType {
	case "application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json":
		return nil, nil
	}
	for _, layer := range manifest.Layers {
		if len(manifest.Layers) == 1 || layer.MediaType == chartLayer {
			return oci.Read(ctx, set, "", layer, extractLimits().Bytes)
		}
	}
	return nil, nil
}

// writeTree writes files into a directory, and nothing outside.
func writeTree(ctx context.Context, tree fs.FS, directory string) (int, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return 0, err
	}
	defer root.Close() //nolint:errcheck // the files are closed
	count := 0
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == ".":
			return nil
		case entry.IsDir():
			return makeDirectory(root, name)
		}
		count++
		if entry.Type()&fs.ModeSymlink != 0 {
			return writeLink(root, tree, name)
		}
		return writeFile(root, tree, name)
	})
	return count, err
}

func makeDirectory(root *os.Root, name string) error {
	if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func writeFile(root *os.Root, tree fs.FS, name string) error {
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	info, err := fs.Stat(tree, name)
	if err != nil {
		return err
	}
	return replace(root, name, func(partial string) error {
		return root.WriteFile(partial, data, 0o644|info.Mode().Perm()&0o111)
	})
}

func writeLink(root *os.Root, tree fs.FS, name string) error {
	target, err := fs.ReadLink(tree, name)
	if err != nil {
		return err
	}
	if !staysInside(name, target) {
		return fmt.Errorf("the link %s leads to %s, which may be outside: %w", name, target, archive.ErrUnsafe)
	}
	return replace(root, name, func(partial string) error { return root.Symlink(target, partial) })
}

// staysInside judges a link in a tree whose directories are no links. A step up
// behind a name is refused: the name may be a link to somewhere else, from where
// up is another place.
func staysInside(name, target string) bool {
	if path.IsAbs(target) || !fs.ValidPath(path.Join(path.Dir(name), target)) {
		return false
	}
	down := false
	for _, step := range strings.Split(target, "/") {
		if step == ".." && down {
			return false
		}
		down = down || (step != ".." && step != "." && step != "")
	}
	return true
}

// replace puts something new in the place of a name: a link that is there is not
// followed.
func replace(root *os.Root, name string, write func(partial string) error) error {
	partial := strings.TrimPrefix(path.Join(path.Dir(name), "."+path.Base(name)+".partial"), "./")
	_ = root.Remove(partial)
	if err := write(partial); err != nil {
		return errors.Join(err, root.Remove(partial))
	}
	if err := root.Rename(partial, name); err != nil {
		return errors.Join(err, root.Remove(partial))
	}
	return nil
}
