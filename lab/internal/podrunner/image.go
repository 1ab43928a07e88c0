package podrunner

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
)

// Images says which images are pulled and run.
type Images struct {
	// Registry returns the address of the registry whose images are run; empty if the lab has no registry.
	Registry func() string
}

// programOf returns what runs in a pod whose image is one of these.
func (i Images) programOf(pod *corev1.Pod) (Program, corev1.Container, bool) {
	if i.Registry == nil || i.Registry() == "" {
		return Program{}, corev1.Container{}, false
	}
	for _, container := range pod.Spec.Containers {
		if strings.HasPrefix(container.Image, i.Registry()+"/") {
			return Program{Name: container.Image, image: true}, container, true
		}
	}
	return Program{}, corev1.Container{}, false
}

// pull unpacks an image into a directory, and returns how it wants to be run. Everything is
// compared with the digests that lead to it.
func pull(ctx context.Context, reference, directory string) (v1.Config, error) {
	parsed, err := name.ParseReference(reference, name.Insecure)
	if err != nil {
		return v1.Config{}, fmt.Errorf("pull image %s: %w", reference, err)
	}
	image, err := remote.Image(parsed, remote.WithContext(ctx), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	if err != nil {
		return v1.Config{}, fmt.Errorf("pull image %s: %w", reference, err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return v1.Config{}, fmt.Errorf("pull image %s: %w", reference, err)
	}
	files := mutate.Extract(image)
	defer files.Close()
	if err := unpack(files, directory); err != nil {
		return v1.Config{}, fmt.Errorf("unpack image %s: %w", reference, err)
	}
	return config.Config, nil
}

// unpack writes the files of an archive into a directory, and none outside it.
func unpack(archive io.Reader, directory string) error {
	if err := errors.Join(os.RemoveAll(directory), os.MkdirAll(directory, 0o755)); err != nil {
		return err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer root.Close()
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackOne(root, header, reader)
		}
		if err != nil {
			return err
		}
	}
}

func unpackOne(root *os.Root, header *tar.Header, content io.Reader) error {
	file := filepath.FromSlash(strings.TrimPrefix(path.Clean("/"+header.Name), "/"))
	if file == "" {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		if err := root.MkdirAll(file, 0o755); err != nil {
			return err
		}
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, file)
	case tar.TypeLink:
		return root.Link(strings.TrimPrefix(path.Clean("/"+header.Linkname), "/"), file)
	case tar.TypeReg:
		if err := write(root, file, content); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s is neither a file nor a directory nor a link", header.Name)
	}
	return root.Chmod(file, header.FileInfo().Mode()&(fs.ModePerm|fs.ModeSticky))
}

func write(root *os.Root, file string, content io.Reader) error {
	out, err := root.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
