package rollout

import (
	"context"
	"fmt"
	"strings"

	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/fieldpath"
	"go.landscaper.dev/internal/deploy/target"
)

// WatchExports watches for changes of the values that an item has exported.
func WatchExports(ctx context.Context, item *deployer.Item, source Source) (deployer.ExportWatcher, error) {
	connection, err := Connect(ctx, item)
	if err != nil {
		return nil, err
	}
	desiredState, _, err := wanted(ctx, item, source)
	if err != nil {
		return nil, err
	}
	return watchExports(ctx, itemJob{item, source}, target.On(connection), desiredState)
}

func watchExports(ctx context.Context, job Job, own target.Cluster, desiredState DesiredState) (deployer.ExportWatcher, error) {
	l := &exportWatcher{given: desiredState.Given}
	for _, value := range desiredState.Exports {
		cluster := own
		if value.TargetName != "" {
			other, err := job.Cluster(ctx, value.TargetName)
			if err != nil {
				return nil, closing(l, err)
			}
			cluster = other
		}
		watcher, err := value.Watch(ctx, cluster, job.Requeue)
		if err != nil {
			return nil, closing(l, err)
		}
		l.watchers = append(l.watchers, watcher)
	}
	return l, nil
}

func closing(l *exportWatcher, err error) error {
	_ = l.Close()
	return err
}

// exportWatcher watches the objects that the values of an item come from.
type exportWatcher struct {
	watchers []*export.Watcher
	version  string
	// given are values that are exported as they are.
	given map[string]any
}

// Values implements deployer.ExportWatcher.
//
// The version is taken before the values are read: what changes meanwhile gives another
// version, and is read once more.
func (l *exportWatcher) Values(ctx context.Context) (map[string]any, error) {
	version, known, err := l.now()
	if err != nil || !known || version == l.version {
		return nil, err
	}
	values, places := export.Copy(l.given), 0
	for _, watcher := range l.watchers {
		value, there, err := watcher.Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("read export %s again: %w", watcher.Value().Name, err)
		}
		if places += watcher.Places(); places > fieldpath.MaxPlaces {
			return nil, fieldpath.TooManyPlaces("export " + watcher.Value().Name)
		}
		if !there {
			// The exported values stay until all can be read again.
			return nil, nil
		}
		watcher.Value().Put(values, value)
	}
	// A change in the middle has triggered the item again.
	l.version = version
	return values, nil
}

// now identifies the state of all objects.
func (l *exportWatcher) now() (version string, known bool, err error) {
	versions := make([]string, len(l.watchers))
	for i, watcher := range l.watchers {
		if versions[i], known, err = watcher.Version(); err != nil || !known {
			return "", false, err
		}
	}
	return strings.Join(versions, ","), true, nil
}

// Close ends all watches.
func (l *exportWatcher) Close() error {
	for _, watcher := range l.watchers {
		watcher.Close()
	}
	return nil
}
