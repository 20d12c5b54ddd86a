# What somebody does with the packages in a bare Debian, as root. Ends at the first command that fails.
set -eux

if command -v cargo; then exit 1; fi
dpkg --install /packages/*.deb
forklore --version

useradd --create-home ada
su ada -c '
    set -eux
    cd
    forklore new --title "In a bare system"
    forklore append last --text "hello"
    forklore list --color never | grep "In a bare system"
    forklore fork last --label other
    forklore verify
    man --where forklore forklore-fork
    man --pager=cat forklore-fork | grep forklore-fork
'

bash -c '. /usr/share/bash-completion/completions/forklore && complete -p forklore'
zsh -n /usr/share/zsh/vendor-completions/_forklore
fish --no-execute /usr/share/fish/vendor_completions.d/forklore.fish

for kind in system user; do
    unit=/usr/lib/systemd/$kind/forklore.service
    # It prints what it does not understand, and succeeds.
    printed=$(XDG_RUNTIME_DIR=/run systemd-analyze verify --man=no --$kind $unit 2>&1)
    test -z "$printed"
done
systemd-analyze security --offline=yes --threshold=20 \
    /usr/lib/systemd/system/forklore.service > /tmp/exposure
tail -n 1 /tmp/exposure

dpkg --verify forklore
dpkg --purge forklore
test ! -e /usr/bin/forklore

# The archive needs no installation.
(cd /packages && sha256sum --check SHA256SUMS)
tar --extract --file /packages/*.tar.gz --directory /opt --no-same-owner
su ada -c 'set -eux; cd; /opt/forklore-*/forklore list --color never | grep "In a bare system"'
